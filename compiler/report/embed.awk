# Turns the shipped texts into C: builtin_text() and builtin_name() of
# compiler/report/report.h.  Each file named on the command line becomes one array.

function escape(text)
{
	gsub(/[\\"?]/, "\\\\&", text) # a question mark: no trigraphs
	gsub(/\t/, "\\t", text)
	return text
}

BEGIN {
	count = 0
	print "/* made by compiler/report/embed.awk from profiles/. */"
	print "#include \"compiler/report/report.h\"\n"
	print "#include <string.h>\n"
}

FNR == 1 {
	if (count)
		print ";\n"
	names[count] = FILENAME
	sub(/.*\//, "", names[count])
	printf "static const char text_%d[] =", count++
}

{
	printf "\n    \"%s\\n\"", escape($0)
}

END {
	print ";\n"
	print "static const struct {"
	print "\tconst char *name, *text;"
	print "\tsize_t size;"
	print "} texts[] = {"
	for (i = 0; i < count; i++)
		printf "\t{\"%s\", text_%d, sizeof text_%d - 1},\n",
		    names[i], i, i
	print "};\n"
	print "enum { TEXT_COUNT = sizeof texts / sizeof texts[0] };\n"
	print "const char *"
	print "builtin_text(const char *name, size_t *size)"
	print "{"
	print "\tfor (size_t i = 0; i < TEXT_COUNT; i++) {"
	print "\t\tif (strcmp(texts[i].name, name) == 0) {"
	print "\t\t\t*size = texts[i].size;"
	print "\t\t\treturn texts[i].text;"
	print "\t\t}"
	print "\t}"
	print "\treturn NULL;"
	print "}\n"
	print "const char *"
	print "builtin_name(size_t index)"
	print "{"
	print "\treturn index < TEXT_COUNT ? texts[index].name : NULL;"
	print "}"
}

# Turns scripts into C: NAME.sh becomes NAME_script of compiler/export/export.h.
BEGIN {
	print "/* made by compiler/export/script.awk. */"
	print "#include \"compiler/export/export.h\""
}

FNR == 1 {
	name = FILENAME
	gsub(/.*\/|\.sh$/, "", name)
	printf "%s\n\nconst char %s_script[] =", end, name
	end = ";"
}

{
	gsub(/[\\"?]/, "\\\\&") # a question mark: no trigraphs
	gsub(/\t/, "\\t")
	printf "\n    \"%s\\n\"", $0
}

END {
	print ";"
}

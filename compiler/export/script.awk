# Turns a script into C: bwrap_script of compiler/export/export.h.
BEGIN {
	print "/* made by compiler/export/script.awk from bwrap.sh. */"
	print "#include \"compiler/export/export.h\"\n"
	printf "const char bwrap_script[] ="
}

{
	gsub(/[\\"?]/, "\\\\&") # a question mark: no trigraphs
	gsub(/\t/, "\\t")
	printf "\n    \"%s\\n\"", $0
}

END {
	print ";"
}

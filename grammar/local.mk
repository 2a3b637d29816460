# Text to statements.
libcompiler_a_SOURCES += \
	grammar/grammar.h \
	grammar/parser.c \
	grammar/syntax.c \
	grammar/token.c
nodist_libcompiler_a_SOURCES += \
	grammar/policy.c \
	grammar/policy.h \
	grammar/scan.c
EXTRA_DIST += grammar/policy.y grammar/scan.l
BUILT_SOURCES += grammar/policy.h
CLEANFILES += grammar/policy.c grammar/policy.h grammar/scan.c

# Neither generator is run through ylwrap, so that the lines in messages and
# in debug information are those of the sources.
grammar/policy.c: grammar/policy.y
	$(AM_V_GEN)$(MKDIR_P) grammar && $(BISON) $(YACC_WARNINGS) \
	    --header=grammar/policy.h -o $@ $(srcdir)/grammar/policy.y

# Made a moment before, it would be made again by every make, after which make
# comes to what needs it, all tests in C, last.
grammar/policy.h: grammar/policy.c
	@test -f $@ || { rm -f grammar/policy.c; $(MAKE) grammar/policy.c; }
	@touch $@

grammar/scan.c: grammar/scan.l
	$(AM_V_GEN)$(MKDIR_P) grammar && $(FLEX) -o $@ $(srcdir)/grammar/scan.l

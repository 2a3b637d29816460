# The model against something that knows better: the kernel, libseccomp, a
# reader of macOS profiles, or asking about everything.

test_programs += \
	tests/model/compare \
	tests/model/export_oci \
	tests/model/hosts \
	tests/model/properties/property \
	tests/model/questions/ask \
	tests/model/remedies \
	tests/model/roundtrip \
	tests/model/seccomp_oracle

# A rule against each denial there is; all places where anchors may lie.
slow_programs += tests/model/offers tests/model/layouts

test_scripts += \
	tests/model/reach.sh \
	tests/model/syscalls.sh \
	tests/model/witnesses.sh

tests_model_properties_property_SOURCES = \
	tests/model/properties/attempts.c \
	tests/model/properties/attempts.h \
	tests/model/properties/draft.c \
	tests/model/properties/draft.h \
	tests/model/properties/expect.c \
	tests/model/properties/expect.h \
	tests/model/properties/model.c \
	tests/model/properties/model.h \
	tests/model/properties/prober.c \
	tests/model/properties/prober.h \
	tests/model/properties/property.c \
	tests/model/properties/world.c \
	tests/model/properties/world.h

tests_model_questions_ask_SOURCES = \
	tests/model/drafts.c \
	tests/model/drafts.h \
	tests/model/questions/ask.c \
	tests/model/questions/engines.c \
	tests/model/questions/engines.h \
	tests/model/questions/plain.c \
	tests/model/questions/plain.h \
	tests/model/questions/plain_network.c \
	tests/model/questions/question.c \
	tests/model/questions/question.h \
	tests/model/random_policy.c \
	tests/model/random_policy.h \
	tests/model/random_words.h \
	tests/model/spots.c \
	tests/model/spots.h \
	tests/model/universe.c \
	tests/model/universe.h

tests_model_compare_SOURCES = \
	tests/model/compare.c \
	tests/model/compare_kernel.c \
	tests/model/compare_kernel.h \
	tests/model/pair.c \
	tests/model/drafts.c \
	tests/model/drafts.h \
	tests/model/universe.c \
	tests/model/universe.h

tests_model_layouts_SOURCES = \
	tests/model/drafts.c \
	tests/model/drafts.h \
	tests/model/layouts.c \
	tests/model/universe.c \
	tests/model/universe.h

tests_model_export_oci_SOURCES = \
	tests/model/export_oci.c \
	tests/model/random_policy.c \
	tests/model/random_policy.h \
	tests/model/random_words.h

tests_model_roundtrip_SOURCES = \
	tests/model/random_policy.c \
	tests/model/random_policy.h \
	tests/model/random_words.h \
	tests/model/roundtrip.c

tests_model_sbpl_questions_SOURCES = \
	tests/model/random_policy.c \
	tests/model/random_policy.h \
	tests/model/random_words.h \
	tests/model/sbpl/oracle.c \
	tests/model/sbpl/oracle.h \
	tests/model/sbpl/questions.c \
	tests/model/spots.c \
	tests/model/spots.h

slow_scripts += tests/model/sbpl.sh

helper_programs += \
	tests/model/reach \
	tests/model/sbpl/questions \
	tests/model/syscall_table

# `make questions QUESTIONS=1000000 QUESTIONS_SEED=7`: all who answer, in one go.
questions_need = \
	sbxc$(EXEEXT) \
	sbxrun$(EXEEXT) \
	tests/kernel/probe$(EXEEXT) \
	tests/model/properties/property$(EXEEXT) \
	tests/model/questions/ask$(EXEEXT) \
	tests/model/sbpl/questions$(EXEEXT)
questions: $(questions_need)
	@srcdir='$(abs_srcdir)' builddir='$(abs_builddir)' \
	    SBXC='$(abs_builddir)/sbxc' SBXRUN='$(abs_builddir)/sbxrun' \
	    PROBE='$(abs_builddir)/tests/kernel/probe' \
	    QUESTIONS='$(QUESTIONS)' QUESTIONS_SEED='$(QUESTIONS_SEED)' \
	    sh $(srcdir)/tests/model/questions/run.sh
.PHONY: questions

# Not the directory of sbpl: the objects of a build lie in it.
EXTRA_DIST += \
	tests/macos \
	tests/model/sbpl/everything.sbx \
	tests/model/sbpl/globs.sbx \
	tests/model/sbpl/linux.sbx \
	tests/model/sbpl/names.def \
	tests/model/sbpl/open.sbx \
	tests/model/sbpl/ports-closed.sbx \
	tests/model/sbpl/ports.sbx \
	tests/model/sbpl/root.sbx \
	tests/model/sbpl/rules.sbx \
	tests/model/sbpl/sandbox-exec \
	tests/model/questions/run.sh \
	tests/model/sbpl/seatbelt.scm \
	tests/model/syscalls

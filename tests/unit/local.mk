# One part of the compiler, the format or the loader at a time, in process.

test_programs += \
	tests/unit/advice \
	tests/unit/addresses \
	tests/unit/agent \
	tests/unit/base \
	tests/unit/bpf \
	tests/unit/calls \
	tests/unit/checks \
	tests/unit/children \
	tests/unit/confine \
	tests/unit/checksum \
	tests/unit/decisions \
	tests/unit/rule_index \
	tests/unit/destination \
	tests/unit/diag \
	tests/unit/dns \
	tests/unit/errors \
	tests/unit/events \
	tests/unit/fakes \
	tests/unit/environment \
	tests/unit/execute \
	tests/unit/filter \
	tests/unit/filter_kernel \
	tests/unit/follow \
	tests/unit/git_settings \
	tests/unit/glob \
	tests/unit/handing \
	tests/unit/hosts \
	tests/unit/index \
	tests/unit/judge \
	tests/unit/launch \
	tests/unit/learning \
	tests/unit/level \
	tests/unit/listing \
	tests/unit/look \
	tests/unit/machine \
	tests/unit/matches \
	tests/unit/options \
	tests/unit/namespaces \
	tests/unit/offer \
	tests/unit/owners \
	tests/unit/parse \
	tests/unit/places \
	tests/unit/project \
	tests/unit/proxy \
	tests/unit/proxy_filter \
	tests/unit/relay \
	tests/unit/remedy \
	tests/unit/report \
	tests/unit/route \
	tests/unit/scratch \
	tests/unit/services \
	tests/unit/shell \
	tests/unit/source \
	tests/unit/spawn \
	tests/unit/syscalls \
	tests/unit/term \
	tests/unit/text \
	tests/unit/tls \
	tests/unit/toml \
	tests/unit/trial \
	tests/unit/verdict \
	tests/unit/verify \
	tests/unit/words \
	tests/unit/yaml \
	tests/unit/yaml_reader

tests_unit_base_SOURCES = tests/unit/base.c runtime/base/arena.c \
	runtime/base/files.h runtime/base/directory.c \
	runtime/base/file.c \
	runtime/base/limits.c runtime/base/options.h runtime/base/out.c \
	runtime/base/out.h runtime/base/path.c \
	runtime/base/sha256.c runtime/base/spelling.c \
	runtime/base/unsteady.c

tests_unit_children_SOURCES = tests/unit/children.c format/decimal.c \
	format/text.h runtime/watch/children.c runtime/watch/supervise.h

tests_unit_decisions_SOURCES = tests/unit/decisions.c format/names.c \
	runtime/base/json.c runtime/base/out.c runtime/network/decisions.c \
	runtime/network/remedy.c

tests_unit_judge_SOURCES = tests/unit/judge.c runtime/base/arena.c \
	runtime/base/json.c runtime/base/out.c runtime/base/path.c \
	runtime/bind/rule_index.c runtime/explain/judge.c \
	runtime/explain/trail.c runtime/network/remedy.c

tests_unit_term_SOURCES = tests/unit/term.c runtime/watch/term.c

tests_unit_offer_SOURCES = tests/unit/offer.c runtime/session/offer.c

tests_unit_git_settings_SOURCES = tests/unit/git_settings.c \
	runtime/bind/git_settings.c runtime/bind/bind.h

tests_unit_environment_SOURCES = tests/unit/environment.c \
	runtime/apply/environment.c runtime/base/arena.c runtime/base/out.c

tests_unit_execute_SOURCES = tests/unit/execute.c runtime/apply/elsewhere.c \
	runtime/apply/environment.c runtime/apply/execute.c \
	runtime/base/arena.c runtime/base/out.c

# What is refused is told by the test.
tests_unit_level_SOURCES = tests/unit/level.c runtime/base/machine.c \
	runtime/start/level.c

tests_unit_follow_SOURCES = tests/unit/follow.c runtime/base/arena.c \
	runtime/base/directory.c runtime/base/file.c runtime/base/out.c \
	runtime/base/path.c runtime/bind/follow.c runtime/bind/listing.c

tests_unit_matches_SOURCES = tests/unit/matches.c runtime/base/arena.c \
	runtime/base/directory.c runtime/base/file.c runtime/base/out.c \
	runtime/base/path.c runtime/bind/follow.c runtime/bind/glob.c \
	runtime/bind/listing.c

tests_unit_agent_SOURCES = tests/unit/agent.c runtime/base/file.c \
	runtime/base/out.c runtime/bind/agent.c

tests_unit_listing_SOURCES = tests/unit/listing.c runtime/base/arena.c \
	runtime/base/directory.c runtime/base/file.c runtime/base/out.c \
	runtime/base/path.c runtime/bind/follow.c runtime/bind/listing.c

tests_unit_handing_SOURCES = tests/unit/handing.c runtime/base/file.c \
	runtime/base/out.c runtime/network/handing.c

tests_unit_project_SOURCES = tests/unit/project.c runtime/base/arena.c \
	runtime/base/directory.c runtime/base/file.c runtime/base/out.c \
	runtime/base/path.c runtime/base/sha256.c runtime/bind/follow.c \
	runtime/bind/listing.c runtime/bind/project.c runtime/bind/scratch.c

tests_unit_errors_LDADD = libsbx_pic.a
tests_unit_launch_LDADD = libsbx_pic.a
tests_unit_launch_LDFLAGS = $(AM_LDFLAGS) -pthread

tests_unit_machine_SOURCES = tests/unit/machine.c runtime/base/file.c \
	runtime/base/machine.c runtime/base/kernel.h runtime/base/out.c
tests_unit_options_SOURCES = tests/unit/options.c \
	runtime/base/directory.c runtime/base/file.c \
	runtime/base/limits.c runtime/base/machine.c runtime/base/options.c \
	runtime/base/options.h runtime/base/options_check.c \
	runtime/base/options_words.c \
	runtime/base/out.c runtime/base/spelling.c

tests_unit_learning_SOURCES = tests/unit/learning.c runtime/base/out.c \
	runtime/explain/learn.c

tests_unit_look_SOURCES = tests/unit/look.c runtime/base/arena.c \
	runtime/base/directory.c runtime/base/out.c runtime/base/path.c \
	runtime/watch/look.c

tests_unit_remedy_LDADD = libproxy.a $(LDADD)
# Its filter is the test's own, which forbids nothing.
tests_unit_confine_SOURCES = tests/unit/confine.c runtime/proxy/confine.c \
	runtime/proxy/proxy.h
tests_unit_confine_LDADD = libproxy.a $(LDADD)
tests_unit_destination_SOURCES = tests/unit/destination.c \
	runtime/base/out.c runtime/base/out.h runtime/listen/destination.c \
	runtime/listen/answers.h
tests_unit_dns_SOURCES = tests/unit/dns.c runtime/proxy/dns.c \
	runtime/proxy/protocols.h
tests_unit_tls_SOURCES = tests/unit/tls.c runtime/proxy/tls.c \
	runtime/proxy/protocols.h
tests_unit_fakes_SOURCES = tests/unit/fakes.c runtime/proxy/fakes.c \
	runtime/proxy/protocols.h
tests_unit_events_SOURCES = tests/unit/events.c runtime/proxy/events.c \
	runtime/proxy/proxy.h
tests_unit_proxy_filter_SOURCES = tests/unit/proxy_filter.c \
	runtime/proxy/proxy.h runtime/proxy/filter.c
tests_unit_proxy_LDADD = libproxy.a $(LDADD)

tests_unit_relay_SOURCES = tests/unit/relay.c runtime/base/file.c \
	runtime/base/out.c runtime/watch/relay.c

# Its filters are the test's own, and so is what asks for namespaces.
tests_unit_namespaces_SOURCES = tests/unit/namespaces.c \
	runtime/apply/namespaces.c runtime/apply/apply.h \
	runtime/base/file.c runtime/base/out.c

tests_unit_owners_SOURCES = tests/unit/owners.c runtime/base/file.c \
	runtime/base/out.c runtime/base/path.c runtime/bind/owners.c

tests_unit_rule_index_SOURCES = tests/unit/rule_index.c runtime/base/arena.c \
	runtime/base/files.h runtime/bind/rule_index.c runtime/bind/bind.h

tests_unit_route_SOURCES = tests/unit/route.c runtime/base/arena.c \
	runtime/base/files.h runtime/base/out.c runtime/network/route.c \
	runtime/network/network.h

tests_unit_services_SOURCES = tests/unit/services.c runtime/base/arena.c \
	runtime/base/out.c runtime/bind/rule_index.c \
	runtime/bind/services.c runtime/bind/bind.h

# In the test's own home directory.
tests_unit_scratch_SOURCES = tests/unit/scratch.c runtime/base/directory.c \
	runtime/base/file.c runtime/base/out.c runtime/base/path.c \
	runtime/base/sha256.c runtime/bind/scratch.c

tests_unit_shell_SOURCES = tests/unit/shell.c runtime/shell/settings.c \
	runtime/shell/shell.h runtime/shell/words.c \
	runtime/base/own.c runtime/base/files.h \
	runtime/base/sha256.c
tests_unit_shell_CPPFLAGS = $(AM_CPPFLAGS) -DSBX_TESTING
tests_unit_shell_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=open

tests_unit_spawn_SOURCES = tests/unit/spawn.c runtime/apply/spawn.c \
	runtime/apply/apply.h runtime/base/out.c runtime/base/out.h

tests_unit_text_SOURCES = tests/unit/text.c runtime/base/json.c \
	runtime/base/out.h runtime/base/out.c

tests_unit_verify_SOURCES = \
	tests/unit/verify.c \
	tests/unit/verify.h \
	tests/unit/verify_edit.c \
	tests/unit/verify_image.c

EXTRA_DIST += tests/unit/filter_cases.h

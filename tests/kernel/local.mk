# sbxrun on the kernel of this machine.

slow_programs += tests/kernel/terminal

test_programs += \
	tests/kernel/library_storm \
	tests/kernel/library \
	tests/kernel/proxy
tests_kernel_proxy_SOURCES = \
	tests/kernel/proxy.c \
	tests/kernel/proxy.h \
	tests/kernel/proxy_clients.c \
	tests/kernel/proxy_flows.c \
	tests/kernel/proxy_policy.c \
	tests/kernel/proxy_requests.c \
	tests/kernel/proxy_servers.c \
	tests/kernel/proxy_stage.c
tests_kernel_fault_proxy_SOURCES = \
	tests/kernel/fault_proxy.c \
	tests/kernel/proxy.h \
	tests/kernel/proxy_clients.c \
	tests/kernel/proxy_policy.c \
	tests/kernel/proxy_servers.c \
	tests/kernel/proxy_stage.c
tests_kernel_library_SOURCES = \
	tests/kernel/library.c \
	tests/kernel/library.h \
	tests/kernel/library_commands.c \
	tests/kernel/library_failures.c \
	tests/kernel/library_stage.c
tests_kernel_library_LDADD = libsbx.a
tests_kernel_library_LDFLAGS = $(AM_LDFLAGS) -pthread
tests_kernel_library_storm_SOURCES = \
	tests/kernel/library.h \
	tests/kernel/library_stage.c \
	tests/kernel/library_storm.c
tests_kernel_library_storm_LDADD = libsbx.a
tests_kernel_library_storm_LDFLAGS = $(AM_LDFLAGS) -pthread
static_scripts += tests/kernel/library_examples.sh

kernel_scripts = \
	tests/kernel/ends.sh \
	tests/kernel/supervise.sh \
	tests/kernel/session.sh \
	tests/kernel/session_use.sh \
	tests/kernel/watch.sh \
	tests/kernel/limits.sh \
	tests/kernel/log.sh \
	tests/kernel/receipt.sh \
	tests/kernel/answers.sh \
	tests/kernel/callers.sh \
	tests/kernel/cases.sh \
	tests/kernel/ceiling.sh \
	tests/kernel/requests.sh \
	tests/kernel/cgroup.sh \
	tests/kernel/clean.sh \
	tests/kernel/devices.sh \
	tests/kernel/each_layer.sh \
	tests/kernel/escape.sh \
	tests/kernel/explain.sh \
	tests/kernel/export.sh \
	tests/kernel/explain_session.sh \
	tests/kernel/learn.sh \
	tests/kernel/filesystems.sh \
	tests/kernel/folding.sh \
	tests/kernel/front.sh \
	tests/kernel/texts.sh \
	tests/kernel/inside.sh \
	tests/kernel/launches.sh \
	tests/kernel/links.sh \
	tests/kernel/listener.sh \
	tests/kernel/live.sh \
	tests/kernel/modes.sh \
	tests/kernel/objects.sh \
	tests/kernel/others.sh \
	tests/kernel/own.sh \
	tests/kernel/places.sh \
	tests/kernel/plan.sh \
	tests/kernel/scratch.sh \
	tests/kernel/secrets.sh \
	tests/kernel/settings.sh \
	tests/kernel/shell.sh \
	tests/kernel/socket_rules.sh \
	tests/kernel/sockets.sh \
	tests/kernel/spawn.sh \
	tests/kernel/ask.sh \
	tests/kernel/stage.sh \
	tests/kernel/streams.sh \
	tests/kernel/trust.sh \
	tests/kernel/view.sh \
	tests/kernel/ways.sh
test_scripts += $(kernel_scripts)
# What agents and people run into.  A sanitizer sees the same code in live.sh,
# explain.sh and session_use.sh.
kernel_users = \
	tests/kernel/agents.sh \
	tests/kernel/failures.sh \
	tests/kernel/tasks.sh \
	tests/kernel/tools.sh
static_scripts += $(kernel_users)
# It asks whether the kernel agrees; cli/why.bats shows a sanitizer the questions.
slow_scripts += tests/kernel/why.sh
# Root's run has ordinary users in it, who cannot make these machines.
test_scripts += \
	tests/kernel/network_standard.sh \
	tests/kernel/resolver.sh
slow_kernel_scripts = \
	tests/kernel/explain_hostile.sh \
	tests/kernel/explain_oracle.sh \
	tests/kernel/faults.sh \
	tests/kernel/learn_tools.sh \
	tests/kernel/network.sh \
	tests/kernel/session_attack.sh \
	tests/kernel/session_storm.sh
slow_scripts += $(slow_kernel_scripts)
# What the kernel says depends on who asks.
kernel_tests = \
	tests/kernel/proxy \
	tests/kernel/terminal \
	$(kernel_scripts) \
	$(kernel_users) \
	tests/kernel/why.sh \
	tests/kernel/library_storm \
	tests/kernel/library \
	tests/cli/messages.sh \
	tests/model/properties/property \
	tests/model/witnesses.sh

helper_programs += \
	tests/kernel/confined \
	tests/kernel/fault \
	tests/kernel/fault_library \
	tests/kernel/fault_proxy \
	tests/kernel/fault_session \
	tests/kernel/folding \
	tests/kernel/knock \
	tests/kernel/observed \
	tests/kernel/helper \
	tests/kernel/probe \
	tests/kernel/siege \
	tests/kernel/standin

EXTRA_DIST += \
	tests/kernel/btrfs.img.gz.gz \
	tests/kernel/continue.pl \
	tests/kernel/ends.py \
	tests/kernel/ceiling_pairs.py \
	tests/kernel/explain_oracle.py \
	tests/kernel/learn_tools.jsonl \
	tests/kernel/learn_tools.py \
	tests/kernel/delegate.sh \
	tests/kernel/inside.py \
	tests/kernel/long_filter.py \
	tests/kernel/outside.py \
	tests/kernel/requests.py

tests_kernel_fault_SOURCES = \
	tests/kernel/fault.c \
	tests/kernel/fault.h \
	tests/kernel/fault_site.c \
	tests/kernel/fault_trace.c

tests_kernel_fault_session_SOURCES = tests/kernel/fault_session.c

tests_kernel_fault_library_SOURCES = tests/kernel/fault_library.c
tests_kernel_fault_library_LDADD = libsbx.a
tests_kernel_fault_library_LDFLAGS = $(AM_LDFLAGS) -pthread

# The probe runs under filters and rules made for it alone: linked like the
# loader, never sanitized.
tests_kernel_probe_SOURCES = \
	tests/kernel/probe.c \
	tests/kernel/probe.h \
	tests/kernel/probe_files.c \
	tests/kernel/probe_interfaces.c \
	tests/kernel/probe_internet.c \
	tests/kernel/probe_listener.c \
	tests/kernel/probe_spawn.c \
	tests/kernel/probe_metadata.c \
	tests/kernel/probe_objects.c \
	tests/kernel/probe_others.c \
	tests/kernel/probe_processes.c \
	tests/kernel/probe_sockets.c \
	tests/kernel/probe_words.c
tests_kernel_probe_CPPFLAGS = -D_GNU_SOURCE
tests_kernel_probe_CFLAGS = $(loader_warnings) -O2 -fno-pie
if LOADER_STATIC
tests_kernel_probe_LDFLAGS = -static -no-pie
else
if SANITIZED
tests_kernel_probe_LDFLAGS = -static -no-pie
else
tests_kernel_probe_LDFLAGS = -no-pie
endif
endif
tests_kernel_probe_LDADD =
$(tests_kernel_probe_OBJECTS) tests/kernel/probe$(EXEEXT): CC = $(LOADER_CC)

tests_kernel_siege_SOURCES = tests/kernel/siege.c
tests_kernel_siege_CPPFLAGS = -D_GNU_SOURCE
tests_kernel_siege_CFLAGS = $(tests_kernel_probe_CFLAGS)
tests_kernel_siege_LDFLAGS = $(tests_kernel_probe_LDFLAGS)
tests_kernel_siege_LDADD =
$(tests_kernel_siege_OBJECTS) tests/kernel/siege$(EXEEXT): CC = $(LOADER_CC)

tests_kernel_observed_SOURCES = tests/kernel/observed.c
tests_kernel_observed_CPPFLAGS = -D_GNU_SOURCE
tests_kernel_observed_CFLAGS = $(tests_kernel_probe_CFLAGS)
tests_kernel_observed_LDFLAGS = $(tests_kernel_probe_LDFLAGS) -pthread
tests_kernel_observed_LDADD =
$(tests_kernel_observed_OBJECTS) tests/kernel/observed$(EXEEXT): \
	CC = $(LOADER_CC)

tests_kernel_knock_SOURCES = tests/kernel/knock.c
tests_kernel_knock_CPPFLAGS = -D_GNU_SOURCE
tests_kernel_knock_CFLAGS = $(tests_kernel_probe_CFLAGS)
tests_kernel_knock_LDFLAGS = $(tests_kernel_probe_LDFLAGS)
tests_kernel_knock_LDADD =
$(tests_kernel_knock_OBJECTS) tests/kernel/knock$(EXEEXT): CC = $(LOADER_CC)

tests_kernel_standin_SOURCES = tests/kernel/standin.c \
	runtime/network/event.h
tests_kernel_standin_CPPFLAGS = -D_GNU_SOURCE
tests_kernel_standin_CFLAGS = $(tests_kernel_probe_CFLAGS)
tests_kernel_standin_LDFLAGS = $(tests_kernel_probe_LDFLAGS)
tests_kernel_standin_LDADD =
$(tests_kernel_standin_OBJECTS) tests/kernel/standin$(EXEEXT): \
    CC = $(LOADER_CC)

tests_kernel_helper_SOURCES = tests/kernel/helper.c format/protocol.h
tests_kernel_helper_CPPFLAGS = -D_GNU_SOURCE
tests_kernel_helper_CFLAGS = $(tests_kernel_probe_CFLAGS)
tests_kernel_helper_LDFLAGS = $(tests_kernel_probe_LDFLAGS)
tests_kernel_helper_LDADD =
$(tests_kernel_helper_OBJECTS) tests/kernel/helper$(EXEEXT): CC = $(LOADER_CC)

# Alone in its sandbox: no library is there.
tests_kernel_confined_SOURCES = tests/kernel/confined.c
tests_kernel_confined_CPPFLAGS = -D_GNU_SOURCE
tests_kernel_confined_CFLAGS = $(tests_kernel_probe_CFLAGS)
tests_kernel_confined_LDFLAGS = -static -no-pie
tests_kernel_confined_LDADD =
$(tests_kernel_confined_OBJECTS) tests/kernel/confined$(EXEEXT): \
    CC = $(LOADER_CC)

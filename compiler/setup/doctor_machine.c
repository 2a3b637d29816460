/* See setup.h: the level that the machine gives, and what keeps it from more. */
#include "compiler/base/base.h"
#include "compiler/setup/setup.h"
#include "format/cut.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A switch of the kernel that forbids namespaces to ordinary users. */
struct knob {
	const char *file, *forbids;
	const char *text, *command;
};

static const struct knob knobs[] = {
	{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
	    "AppArmor allows namespaces only to programs that it knows",
	    "sudo cp %s/share/sbx/apparmor/sbxrun /etc/apparmor.d/sbxrun && "
	    "sudo apparmor_parser -r /etc/apparmor.d/sbxrun" },
	{ "/proc/sys/kernel/unprivileged_userns_clone", "0",
	    "namespaces are switched off for users",
	    "sudo sysctl -w kernel.unprivileged_userns_clone=1" },
	{ "/proc/sys/user/max_user_namespaces", "0",
	    "no user namespaces may be made",
	    "sudo sysctl -w user.max_user_namespaces=15000" },
};

static bool
file_says(const char *path, const char *text)
{
	FILE *stream = fopen(path, "re");
	char line[32] = "";
	bool same;

	if (stream == NULL)
		return false;
	same = fgets(line, sizeof line, stream) != NULL;
	fclose(stream);
	line[strcspn(line, "\n")] = '\0';
	return same && strcmp(line, text) == 0;
}

static const char *
missing(const struct doctor *doctor, const char *part)
{
	return json_text(json_member(doctor->status, part), "missing");
}

/* The directory that bin/sbxrun was installed in. */
static const char *
prefix_of(const struct doctor *doctor)
{
	const char *end = strstr(doctor->sbxrun, "/bin/sbxrun");

	return end == NULL ? "/usr/local" :
			     arena_strndup(doctor->arena, doctor->sbxrun,
				 (size_t)(end - doctor->sbxrun));
}

static const struct knob *
find_knob(void)
{
	for (size_t i = 0; i < countof(knobs); i++) {
		if (file_says(knobs[i].file, knobs[i].forbids))
			return &knobs[i];
	}
	return NULL;
}

static void
say_namespaces(struct doctor *doctor)
{
	const struct knob *knob = find_knob();
	const char *why = missing(doctor, "namespaces");
	const char *command = NULL;

	if (knob != NULL)
		command = strstr(knob->command, "%s") == NULL ?
		    knob->command :
		    arena_printf(doctor->arena,
			"sudo cp %s/share/sbx/apparmor/sbxrun "
			"/etc/apparmor.d/sbxrun && sudo apparmor_parser -r "
			"/etc/apparmor.d/sbxrun",
			prefix_of(doctor));
	doctor_find(doctor, FINDING_NOTE, "level",
	    arena_printf(doctor->arena,
		"standard: files are protected, but places that are denied can "
		"be seen, and servers have no network of their own; %s",
		knob != NULL ? knob->text : why),
	    command);
}

static void
say_level(struct doctor *doctor)
{
	const char *level = json_text(doctor->status, "level");
	const char *landlock = missing(doctor, "landlock");

	if (strcmp(level, "full") == 0) {
		doctor_find(doctor, FINDING_GOOD, "level",
		    arena_printf(doctor->arena, "full (Landlock ABI %d)",
			doctor->subject->abi),
		    NULL);
		return;
	}
	if (strcmp(level, "standard") == 0) {
		say_namespaces(doctor);
		return;
	}
	doctor_find(doctor, FINDING_FIX, "level",
	    arena_printf(doctor->arena,
		"%s: files are NOT protected; Landlock is %s", level,
		landlock != NULL ? landlock : "there"),
	    landlock != NULL && strstr(landlock, "lsm=") != NULL ?
		"add landlock in front of the list in GRUB_CMDLINE_LINUX="
		"\"lsm=...\" in /etc/default/grub; sudo update-grub; sudo "
		"reboot" :
		NULL);
}

static void
say_hosts(struct doctor *doctor)
{
	const struct sbx_blob *blob = doctor->subject->places.blob;
	const char *why = missing(doctor, "hosts");

	if (blob->meta->net != SBX_NET_SELECTED || why == NULL)
		return;
	doctor_find(doctor, FINDING_FIX, "network",
	    arena_printf(doctor->arena,
		"the policy names hosts, and what reaches them is missing: %s",
		why),
	    NULL);
}

/* Programs in the host's network ask the resolver that this file names. */
static void
say_resolver(struct doctor *doctor)
{
	static const char path[] = "/etc/resolv.conf";
	enum sbx_net net = doctor->subject->places.blob->meta->net;
	struct followed followed = here_follow(doctor->arena, path);
	const char *place;

	if (net != SBX_NET_FULL && net != SBX_NET_PORTS)
		return;
	place = arena_strndup(doctor->arena, followed.place.path,
	    followed.place.len);
	if (!followed.there) {
		doctor_find(doctor, FINDING_NOTE, "names",
		    "/etc/resolv.conf is not there: no name is looked up",
		    NULL);
	} else if (!doctor_allows(doctor, "read", place)) {
		doctor_find(doctor, FINDING_FIX, "names",
		    arena_printf(doctor->arena,
			"%s is a link to %s, which the policy does not let "
			"read: no name is looked up",
			path, place),
		    arena_printf(doctor->arena,
			"add to the policy: allow read %s", place));
	}
}

/* What is wrong with it ends each run, and sbxrun says what. */
static void
say_ceiling(struct doctor *doctor)
{
	if (access(SBX_CEILING, F_OK) == 0)
		doctor_find(doctor, FINDING_NOTE, "ceiling",
		    SBX_CEILING " is in force: a run gets what the policy and "
				"this allow; 'sbxc show " SBX_CEILING
				"' prints it",
		    NULL);
}

void
doctor_machine(struct doctor *doctor)
{
	const char *outer = getenv("SBX");

	/* Inside another sandbox less can be done, and a policy is seldom
	 * wanted. */
	if (outer != NULL && *outer != '\0')
		doctor_find(doctor, FINDING_NOTE, "nested",
		    arena_printf(doctor->arena,
			"this runs inside a sandbox of sbx already (SBX=%s)",
			outer),
		    NULL);
	say_level(doctor);
	say_ceiling(doctor);
	say_hosts(doctor);
	say_resolver(doctor);
}

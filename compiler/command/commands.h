/*
 * The commands of sbxc.  Each takes the options and returns the exit status.
 * The result goes to standard output, diagnostics go to standard error.
 */
#ifndef SBX_COMMANDS_H
#define SBX_COMMANDS_H

#include "compiler/query/subject.h"

enum exit_status command_build(struct options *options);
enum exit_status command_check(struct options *options);
enum exit_status command_why(struct options *options);
enum exit_status command_fmt(struct options *options);
enum exit_status command_test(struct options *options);
enum exit_status command_diff(struct options *options);
enum exit_status command_dump(struct options *options);
enum exit_status command_convert(struct options *options);
enum exit_status command_export(struct options *options);
enum exit_status command_import(struct options *options);
enum exit_status command_learn(struct options *options);
enum exit_status command_profiles(struct options *options);
enum exit_status command_doctor(struct options *options);
enum exit_status command_init(struct options *options);
enum exit_status command_show(struct options *options);
enum exit_status command_explain(struct options *options);

/*
 * Reads a policy that is asked about.  Diagnostics are printed if it does not
 * compile, and a blob that does not do what its rules say is refused.
 * EXIT_CLEAN, or what the command is to end with.
 */
enum exit_status subject_read(const struct options *options, const char *path,
    struct sbx_blob *blob, const struct blocks **blocks);

#endif

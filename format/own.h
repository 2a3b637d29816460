/*
 * The directories of a home in which sbx keeps what is its own: what a command
 * wrote there would be the next run's policy.  The loader keeps both from every
 * command, whatever the policy says.
 */
#ifndef SBX_FORMAT_OWN_H
#define SBX_FORMAT_OWN_H

#define SBX_OWN_CONFIG "/.config/sbx"
#define SBX_OWN_STATE "/.local/state/sbx"

#endif

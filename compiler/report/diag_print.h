/*
 * Diagnostics for people.
 */
#ifndef SBX_DIAG_PRINT_H
#define SBX_DIAG_PRINT_H

#include "compiler/report/diag.h"

/* Prints the records that are not suppressed, in source order.  REPORT_GCC is
 * a line for each; any other format has their source lines too, and at the end
 * how many there are. */
void diags_print(const struct diags *diags, FILE *stream,
    enum report_format format, bool colour);

#endif

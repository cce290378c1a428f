/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OOB_TEXT_PRIV_H
#define OOB_TEXT_PRIV_H

/** @file The inside of rl_oob_text.h: fields of JSON objects. */

#include <jansson.h>
#include <stdio.h>

#include "rl_oob_text.h"

/** An object of our version, or NULL. The caller owns the reference. */
json_t *oob_text_load(const char *text, size_t len);

/** The text of @p j, whose reference it takes; NULL: no memory, or j is. */
char *oob_text_dump(json_t *j);

/** A field of 0 to max; 0 if it is left out. @return 0 or -EINVAL */
int oob_text_number(const json_t *j, const char *key, uint64_t max,
		    uint64_t *v);

/** A field of 16 hexadecimal digits. @return 0 or -EINVAL */
int oob_text_hex(const json_t *j, const char *key, uint64_t *v);
json_t *oob_text_of_hex(uint64_t v);

#endif /* OOB_TEXT_PRIV_H */

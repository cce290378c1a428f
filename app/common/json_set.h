/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JSON_SET_H
#define JSON_SET_H

/** @file The line of which reports are made. */

#include <jansson.h>
#include <stdint.h>

/** Any thread. Sets a count of an object. */
static inline void
set(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

#endif /* JSON_SET_H */

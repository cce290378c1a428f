/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Base64 according to RFC 4648, section 4: with padding, without line breaks.
 */
#include <stdlib.h>
#include <string.h>

#include "oob_etcd.h"

static const char letters[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *
oob_base64(const char *data, size_t len)
{
	const unsigned char *d = (const unsigned char *)data;
	char *text = malloc((len + 2) / 3 * 4 + 1);
	char *p = text;

	if (text == NULL)
		return NULL;
	for (size_t i = 0; i < len; i += 3) {
		const size_t n = len - i < 3 ? len - i : 3;
		const uint32_t v = (uint32_t)d[i] << 16 |
				   (n > 1 ? (uint32_t)d[i + 1] << 8 : 0) |
				   (n > 2 ? d[i + 2] : 0u);

		*p++ = letters[v >> 18];
		*p++ = letters[v >> 12 & 63];
		*p++ = n > 1 ? letters[v >> 6 & 63] : '=';
		*p++ = n > 2 ? letters[v & 63] : '=';
	}
	*p = '\0';
	return text;
}

/* Value of a letter, -1: none. */
static int
value_of(char c)
{
	const char *at = c == '\0' ? NULL : strchr(letters, c);

	return at == NULL ? -1 : (int)(at - letters);
}

char *
oob_unbase64(const char *text, size_t *len)
{
	const size_t n = strlen(text);
	size_t pad = 0;
	char *data, *p;

	*len = 0;
	if (n % 4 != 0)
		return NULL;
	while (pad < 2 && pad < n && text[n - 1 - pad] == '=')
		pad++;
	data = malloc(n / 4 * 3 + 1);
	p = data;
	for (size_t i = 0; p != NULL && i < n; i += 4) {
		uint32_t v = 0;

		for (size_t k = 0; k < 4; k++) {
			const bool padding = i + k >= n - pad;
			const int x = padding ? 0 : value_of(text[i + k]);

			if (x < 0) {
				free(data);
				return NULL;
			}
			v = v << 6 | (uint32_t)x;
		}
		*p++ = (char)(v >> 16);
		*p++ = (char)(v >> 8);
		*p++ = (char)v;
	}
	if (data == NULL)
		return NULL;
	*len = n / 4 * 3 - pad;
	data[*len] = '\0';
	return data;
}

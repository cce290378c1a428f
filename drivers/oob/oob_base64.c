/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Base64 according to RFC 4648, section 4: with padding, without line breaks.
 */
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "oob_etcd.h"

static const char letters[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *
oob_base64(const char *data, size_t len)
{
	char *text = malloc((len + 2) / 3 * 4 + 1);

	if (text != NULL)
		EVP_EncodeBlock((unsigned char *)text,
				(const unsigned char *)data, (int)len);
	return text;
}

char *
oob_unbase64(const char *text, size_t *len)
{
	const size_t n = strlen(text), body = strspn(text, letters);
	const size_t pad = n - body;
	char *data;

	*len = 0;
	/* OpenSSL takes blanks, line ends, and padding anywhere */
	if (n % 4 != 0 || pad > 2 || strspn(text + body, "=") != pad)
		return NULL;
	data = malloc(n / 4 * 3 + 1);
	if (data == NULL)
		return NULL;
	EVP_DecodeBlock((unsigned char *)data, (const unsigned char *)text,
			(int)n);
	*len = n / 4 * 3 - pad;
	data[*len] = '\0';
	return data;
}

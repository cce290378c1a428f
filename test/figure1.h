/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FIGURE1_H
#define TEST_FIGURE1_H

/**
 * The fabric of Figure 1, as the text of a fabric file: two switches joined by
 * two links, an endpoint on each. Lines 1 to 6; more groups may follow.
 */
#define FIGURE1_FABRIC                                                         \
	"fabric: { topology = \"custom\";\n"                                   \
	"  switches = ( { name = \"s0\"; }, { name = \"s1\"; } );\n"           \
	"  endpoints = ( { name = \"e0\"; }, { name = \"e1\"; } );\n"          \
	"  links = ( { a = \"e0\"; b = \"s0\"; },\n"                           \
	"    { a = \"s0\"; b = \"s1\"; count = 2; },\n"                        \
	"    { a = \"s1\"; b = \"e1\"; } ); };\n"

#endif /* TEST_FIGURE1_H */

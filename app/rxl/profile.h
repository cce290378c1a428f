/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RXL_PROFILE_H
#define RXL_PROFILE_H

#include "rl_ep_cfg.h"

/** Any thread. @return 0 with *p set, or -ENOENT */
int rxl_profile_find(const char *name, enum rl_profile *p);

#endif /* RXL_PROFILE_H */

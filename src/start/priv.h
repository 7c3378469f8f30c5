/* SPDX-License-Identifier: Apache-2.0 */
/* priv.h - data shared by the files of this folder. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "model/facts.h"
#include "model/image.h"
#include "model/request.h"

/* places.c: sets the image's places to those of this machine. */
bool start_places(const struct request *req, struct image *img);
/* holes.c: finds the values of all holes and writes them into the code. */
bool start_holes(const struct request *req, struct image *img);

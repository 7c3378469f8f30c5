// SPDX-License-Identifier: Apache-2.0
/* holds.h - conditions with has_frame(): decides by the names of frames about events, and gives the verdicts
 * to the kernel half (bpf/walk/match.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_object;
struct holds;
struct image;
struct image_record;
struct record;
struct settings;
struct show;
struct target;

/* img must have patterns. Returns NULL if the object lacks a map or a program. obj must live until holds_free(). */
struct holds *holds_new(const struct image *img, struct bpf_object *obj, struct target *t,
	const struct settings *settings);
void holds_free(struct holds *h);
/* Decides about a condition. data: a struct gate_record. */
void holds_decide(struct holds *h, const struct show *show, const struct image_record *r, const uint8_t *data);
/* Returns whether the conditions are true on which a record depends. kind: struct record's. */
bool holds_pass(const struct holds *h, uint32_t kind);
/* Makes the update of a map. data: a struct apply_record of r->size bytes. */
void holds_apply(struct holds *h, const struct image_record *r, const uint8_t *data);
/* hold(KEY): from now on holds_put() files the records of the event's slot under the key. data: r's one argument. */
void holds_begin(struct holds *h, const struct image_record *r, const uint8_t *data);
/* Returns whether the record waits for keep() or drop(); if so, it has been copied. Those themselves do not wait. */
bool holds_put(struct holds *h, const struct image_record *r, const struct record *record, size_t size);
/* keep(KEY): passes the records to run, in their order. */
void holds_keep(struct holds *h, const struct image_record *r, const uint8_t *data,
	void (*run)(void *arg, const struct record *r, size_t size), void *arg);
void holds_drop(struct holds *h, const struct image_record *r, const uint8_t *data);
/* Calls f for each id of a stack in the records that wait. */
void holds_each_stack(const struct holds *h, void (*f)(void *arg, uint64_t id), void *arg);
/* At the end: warns about stacks that were not whole, and about patterns that name a function which never occurred. */
void holds_report(const struct holds *h);

/* SPDX-License-Identifier: Apache-2.0 */
/* about.h - one line that names the traced command, for the heads of pictures. */
#pragma once

struct session;
struct str;

/* Appends the command of -c, or of the first process of -p, which may end before the session does. */
void about_process(const struct session *s, struct str *out);
/* Appends "python3 app.py, pid 1234, HOST, 10.0 s, 99 Hz". process: the text of about_process(). */
void about_session(const struct session *s, const char *process, struct str *out);

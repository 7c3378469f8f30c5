// SPDX-License-Identifier: Apache-2.0
/* stop.c - the stop flag, an eventfd for epoll, and a timer that interrupts writes that block. */
#include "stop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/owner.h"

/* timeout(1) and terminals may send a signal twice: to the process and to its group. */
enum { SAME_SIGNAL_MS = 100, ALARM_US = 50000 };

static volatile sig_atomic_t asked;
static volatile pid_t killed;
static void (*volatile restores)(void);
static uint64_t asked_at; /* written before `asked` */
static int event = -1;

static uint64_t now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

static void on_first(void)
{
	const struct itimerval every = {{0, ALARM_US}, {0, ALARM_US}};
	const uint64_t one = 1;

	asked_at = now_ms();
	asked = 1;
	setitimer(ITIMER_REAL, &every, NULL);
	if (write(event, &one, sizeof(one)) < 0)
		return; /* stop_asked() works without the fd */
}

static void on_signal(int sig)
{
	int saved = errno;

	if (!asked) {
		on_first();
	} else if (now_ms() - asked_at >= SAME_SIGNAL_MS) {
		if (killed > 0)
			kill(killed, SIGKILL);
		if (restores)
			restores();
		signal(sig, SIG_DFL);
		kill(getpid(), sig); /* the signal arrives when this handler returns */
	}
	errno = saved;
}

static void on_alarm(int sig)
{
	(void)sig; /* the signal only interrupts system calls that block */
}

/* Ignores the signal, which would end strata by default. */
static void on_other(int sig)
{
	(void)sig;
}

/* After Ctrl-\ or a crash: restores the terminal, then lets the signal take its default effect. */
static void on_death(int sig)
{
	void (*restore)(void) = restores;

	if (restore)
		restore();
	signal(sig, SIG_DFL);
	kill(getpid(), sig);
}

static bool is_ignored(int sig)
{
	struct sigaction old;

	return !sigaction(sig, NULL, &old) && old.sa_handler == SIG_IGN;
}

void stop_survive(void)
{
	static const int others[] = {SIGUSR1, SIGUSR2, SIGXFSZ};
	struct sigaction action = {.sa_handler = on_other, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!is_ignored(others[i]))
			sigaction(others[i], &action, NULL);
}

int stop_open(bool interrupts)
{
	static const int ends[] = {SIGTERM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT};
	struct sigaction stop = {.sa_handler = on_signal}, alarm = {.sa_handler = on_alarm};

	if (event < 0)
		event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (event < 0)
		return -errno;
	sigaction(SIGALRM, &alarm, NULL);
	if (interrupts)
		sigaction(SIGINT, &stop, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &stop, NULL);
	if (!is_ignored(SIGHUP)) /* nohup sets it to be ignored */
		sigaction(SIGHUP, &stop, NULL);
	signal(SIGPIPE, SIG_IGN);
	return event;
}

bool stop_asked(void)
{
	return asked;
}

unsigned stop_age(void)
{
	return asked ? now_ms() - asked_at : 0;
}

/* Restores the terminal if exit() is called meanwhile, because memory ran out. */
static void at_exit(void)
{
	void (*restore)(void) = restores;

	if (restore)
		restore();
}

void (*stop_restores(void (*restore)(void)))(void)
{
	static bool registered;
	static const int deaths[] = {SIGQUIT, SIGSEGV, SIGILL, SIGFPE, SIGABRT};
	struct sigaction action = {.sa_handler = restore ? on_death : SIG_DFL};
	void (*before)(void) = restores;

	restores = restore;
	registered = registered || !atexit(at_exit);
	for (size_t i = 0; !before != !restore && i < ARRAY_SIZE(deaths); i++)
		if (!is_ignored(deaths[i]))
			sigaction(deaths[i], &action, NULL);
	return before;
}

void stop_kills(pid_t pid)
{
	killed = pid;
}

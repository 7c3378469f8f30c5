/* SPDX-License-Identifier: Apache-2.0 */
/* idle.c - a pool of threads, an event loop, a thread of node's inspector, and a thread that waits for an answer: only
 * the last one is a delay. */
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, answers = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static int jobs, ready;
static sem_t signals;
static volatile long sum;

static void run_job(void)
{
	for (int i = 0; i < 100000; i++)
		sum += i;
}

static void *pool_worker(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!jobs)
			pthread_cond_wait(&more, &lock);
		jobs--;
		pthread_mutex_unlock(&lock);
		run_job();
	}
	return NULL;
}

static __attribute__((noinline)) void wait_for_answer(void)
{
	pthread_mutex_lock(&answers);
	while (!ready)
		pthread_cond_wait(&answered, &answers);
	ready = 0;
	pthread_mutex_unlock(&answers);
	sum++;
}

static void *asker(void *arg)
{
	for (;;)
		wait_for_answer();
	return NULL;
}

/* As in node: node::inspector::(anonymous namespace)::StartIoThreadMain(void*) */
static void *inspector(void *arg) __asm__("_ZN4node9inspector12_GLOBAL__N_117StartIoThreadMainEPv");
static void *inspector(void *arg)
{
	while (!sem_wait(&signals))
		sum++;
	return NULL;
}

static void *event_loop(void *arg)
{
	struct itimerspec every = {{0, 20000000}, {0, 20000000}};
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
	unsigned long n;

	timerfd_settime(timer, 0, &every, NULL);
	epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
	while (epoll_wait(epoll, &event, 1, -1) > 0)
		sum += read(timer, &n, sizeof(n));
	return NULL;
}

static void give(pthread_mutex_t *mutex, pthread_cond_t *cond, int *to)
{
	pthread_mutex_lock(mutex);
	++*to;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(mutex);
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, pool_worker, NULL);
	pthread_create(&thread, NULL, asker, NULL);
	pthread_create(&thread, NULL, event_loop, NULL);
	sem_init(&signals, 0, 0);
	pthread_create(&thread, NULL, inspector, NULL);
	for (;;) {
		usleep(20000);
		give(&lock, &more, &jobs);
		give(&answers, &answered, &ready);
		sem_post(&signals);
	}
}

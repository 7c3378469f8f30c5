// Orders wait for stock, which arrives ten times a second. g++ -O1 -g -pthread stock.cc -o stock
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable arrived;
static int stock;
static volatile int sold;

[[gnu::noinline]] static void wait_for_stock()
{
	std::unique_lock<std::mutex> lock(mutex);

	while (!stock)
		arrived.wait(lock);
	stock--;
	sold = sold + 1;
}

static void sell()
{
	for (;;)
		wait_for_stock();
}

int main()
{
	std::thread seller(sell);

	for (;;) {
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		std::lock_guard<std::mutex> lock(mutex);
		stock++;
		arrived.notify_one();
	}
}

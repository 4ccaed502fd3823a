"""Several cases at a time."""
import concurrent.futures


def in_parallel(tasks, jobs, results):
    """Runs pairs of a function and its arguments, so many at a time. After Ctrl-C no more than those
    few begin whose turn comes before the signal is noticed."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures, taken = [pool.submit(function, *arguments) for function, *arguments in tasks], 0
        try:
            for future in futures:
                results.append(future.result())
                taken += 1
        except KeyboardInterrupt:
            done = [future.result() for future in futures[taken:] if future.done()]
            results += [result for result in done if not ended_by_ctrl_c(result)]
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def ended_by_ctrl_c(result):
    return "exit 130" in result.get("error", "")

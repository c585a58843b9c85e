const DEFAULTS = {
  /** How often it is asked, in milliseconds, while a stream is open. */
  everyMs: 1_000,
};

/** A stream of events that ends when its reader may no longer come in; any other answer is left as it is. */
export function whileGood(
  response: Response,
  /** Null when nobody is known any more. */
  identify: () => Promise<unknown>,
  /** When it has ended, or its reader has gone. */
  onEnd: () => void,
  everyMs = DEFAULTS.everyMs,
): Response {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!isStream || !response.body) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  let timer: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(async () => {
        // While the store cannot be asked, nobody is shut out through it either.
        const isGood = await identify().then(
          (who) => who !== null,
          () => true,
        );
        if (isGood || timer === undefined) return;
        clearInterval(timer);
        timer = undefined;
        onEnd();
        await reader.cancel().catch(() => {});
        try {
          controller.close();
        } catch {
          // Its reader went at the same moment.
        }
      }, everyMs);
      timer.unref();
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch((error) => {
        onEnd();
        throw error;
      });
      if (!done) return controller.enqueue(value);
      clearInterval(timer);
      timer = undefined;
      onEnd();
      try {
        controller.close();
      } catch {
        // It was closed above.
      }
    },
    async cancel(reason) {
      clearInterval(timer);
      timer = undefined;
      onEnd();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

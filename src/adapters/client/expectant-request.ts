import { type IncomingMessage, type RequestOptions, request } from 'node:http';

/** The other side cannot have taken the request: nothing of its body was sent. */
export class UnseenError extends Error {
  override readonly name = 'UnseenError';
}

export interface ExpectantRequest extends RequestOptions {
  readonly body: Buffer;
}

/**
 * Sends the body only after the other side said "100 Continue": whatever breaks before that cannot
 * have taken effect and may be asked of another, whatever breaks after it may have.
 */
export async function expectantRequest({ body, ...options }: ExpectantRequest): Promise<IncomingMessage> {
  return await new Promise<IncomingMessage>((resolve, reject) => {
    let isSent = false;
    const headers = { ...options.headers, 'content-length': body.length, expect: '100-continue' };
    const asked = request({ ...options, headers });
    asked.on('continue', () => {
      isSent = true;
      // From here on it is at work, for as long as that takes; that it ended the socket tells.
      asked.setTimeout(0);
      asked.end(body);
    });
    asked.on('timeout', () => asked.destroy(new Error(`no answer for ${options.timeout} ms`)));
    asked.on('response', resolve);
    asked.on('error', (error) => {
      if (isSent) reject(error);
      // A connection kept from before may be closed at the other end just as it is used again: that says nothing.
      else if (asked.reusedSocket) resolve(expectantRequest({ body, ...options }));
      else reject(new UnseenError(error.message, { cause: error }));
    });
    asked.flushHeaders();
  });
}

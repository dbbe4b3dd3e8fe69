/** An authorization response or a token response that says so, with a code that OAuth defines. */
const temporaryErrors = ['temporarily_unavailable', 'server_error'];

/** Whether the provider could not be reached in time, or has a failure of its own. */
export const isUnavailable = (error: unknown) =>
  causesOf(error).some(
    ({ name, message, error, status }) =>
      name === 'TimeoutError' ||
      name === 'JWKSTimeout' ||
      message === 'fetch failed' ||
      message === 'terminated' ||
      temporaryErrors.includes(String(error)) ||
      Number(status) >= 500,
  );

/**
 * What the log says about a failed request to the provider. The errors of the libraries contain requests and responses,
 * with codes and tokens, so only fields without a secret are logged.
 */
export const describeFailure = (failure: unknown) => ({
  msg: 'The identity provider rejected a sign-in, or could not be reached.',
  causes: causesOf(failure).map(({ name, message, code, status, error, error_description }) => ({
    name,
    code,
    status,
    error,
    // The message of a parser quotes its input.
    message: name === 'SyntaxError' ? undefined : message,
    error_description:
      typeof error_description === 'string'
        ? error_description.slice(0, 500).replaceAll(/[\w.~+/=-]{16,}/g, '…')
        : undefined,
  })),
});

type Failure = Record<'name' | 'message' | 'code' | 'status' | 'error' | 'error_description', unknown>;

/** An error and its causes, and the response that is a cause. */
function causesOf(error: unknown): Failure[] {
  const causes: Failure[] = [];
  for (let cause = error; isFailure(cause) && causes.length < 5; cause = (cause as { cause?: unknown }).cause)
    causes.push(cause);
  return causes;
}

const isFailure = (cause: unknown): cause is Failure & object =>
  cause instanceof Error || cause instanceof DOMException || cause instanceof Response;

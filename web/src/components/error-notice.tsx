import { ApiError } from '../api/client.ts';
import { Button } from './button.tsx';

/** Shows an error with the messages of the service. */
export const ErrorNotice = ({ error, retry }: { error: unknown; retry?: () => void }) => (
  <div className="notice bad" role="alert">
    <div>
      {messagesOf(error).map((message) => (
        <p key={message}>{message}</p>
      ))}
    </div>
    {retry && (
      <Button small onPress={retry}>
        Try again
      </Button>
    )}
  </div>
);

/** An error about the URL's filters names each filter, which has no field to stand next to. */
function messagesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  // A part of the console that fails to load is a TypeError of the browser, in its own words.
  if (error instanceof TypeError && /module|script/i.test(error.message))
    return ["Can't reach the service. Check your connection and try again."];
  const parameterErrors =
    error instanceof ApiError ? error.fieldErrors.filter(({ parameter }) => parameter) : [];
  return parameterErrors.length > 0
    ? parameterErrors.map(({ parameter, detail }) => `${parameter}: ${detail}`)
    : [error.message];
}

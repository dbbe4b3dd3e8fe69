import { ApiProblem } from '../api/client.ts';
import { Button } from './button.tsx';

/** What went wrong, in the words of the service, where it belongs. */
export const ProblemNotice = ({ error, retry }: { error: unknown; retry?: () => void }) => (
  <div className="notice bad" role="alert">
    <div>
      {sentencesOf(error).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </div>
    {retry && (
      <Button small onPress={retry}>
        Try again
      </Button>
    )}
  </div>
);

/** A fault of the address is told with the name of the filter it is about. */
function sentencesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  const faults = error instanceof ApiProblem ? error.faults.filter(({ parameter }) => parameter) : [];
  return faults.length > 0
    ? faults.map(({ parameter, detail }) => `${parameter}: ${detail}`)
    : [error.message];
}

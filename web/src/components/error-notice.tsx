import { useSearchParams } from 'wouter';
import { Button } from './button.tsx';
import { errorMessages, invalidFilters } from './error-text.ts';
import type { Field } from './form-values.ts';

type Props = {
  error: unknown;
  retry?: () => void;
  /** What the button is called. */
  action?: string;
  /** The fields that the error can be about, with their labels. */
  fields?: readonly Field[] | undefined;
};

/** Shows an error with the messages of the service. Filters in the URL that it rejects can be cleared. */
export function ErrorNotice({ error, retry, action = 'Try again', fields }: Props) {
  const [, setParams] = useSearchParams();
  const invalid = invalidFilters(error);
  const clear = () =>
    setParams((current) => {
      const next = new URLSearchParams(current);
      for (const name of invalid) next.delete(name);
      return next;
    });
  return (
    <div className="notice bad" role="alert">
      <div>
        {errorMessages(error, fields).map((message) => (
          <p key={message}>{message}</p>
        ))}
      </div>
      {invalid.length > 0 ? (
        <Button small onPress={clear}>
          Clear filters
        </Button>
      ) : (
        retry && (
          <Button small onPress={retry}>
            {action}
          </Button>
        )
      )}
    </div>
  );
}

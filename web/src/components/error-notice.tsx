import { Button } from './button.tsx';
import { errorMessages } from './error-text.ts';
import type { Field } from './form-values.ts';

type Props = {
  error: unknown;
  retry?: () => void;
  /** The fields that the error can be about, with their labels. */
  fields?: readonly Field[] | undefined;
};

/** Shows an error with the messages of the service. */
export const ErrorNotice = ({ error, retry, fields }: Props) => (
  <div className="notice bad" role="alert">
    <div>
      {errorMessages(error, fields).map((message) => (
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

import { type ReactNode, useId, useState } from 'react';

type Props = {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** A password can be shown, a key can't: nobody types one. */
  type?: 'text' | 'email' | 'password' | 'key';
  autoComplete: string;
  hint?: ReactNode;
  error?: string | undefined;
  placeholder?: string;
  autoFocus?: boolean;
  readOnly?: boolean;
};

/** A field of a page to sign in. */
export function TextField({ label, value, onChange, type = 'text', hint, error, autoFocus, ...rest }: Props) {
  const id = useId();
  const [isShown, setShown] = useState(false);
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <div className="input-box">
        <input
          {...rest}
          id={id}
          type={type === 'key' ? 'password' : type === 'password' && isShown ? 'text' : type}
          // biome-ignore lint/a11y/noAutofocus: the page has no other purpose
          autoFocus={autoFocus}
          required
          spellCheck={false}
          autoCapitalize="none"
          aria-invalid={error ? 'true' : undefined}
          aria-describedby={described || undefined}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
        {type === 'password' && (
          <button
            type="button"
            className="button small plain"
            aria-label={`${isShown ? 'Hide' : 'Show'} ${label.toLowerCase()}`}
            onClick={() => setShown(!isShown)}
          >
            {isShown ? 'Hide' : 'Show'}
          </button>
        )}
      </div>
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

import { useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

type Props = {
  title: string;
  secret: string | null;
  /** What to do when the connection was lost before the secret arrived. */
  recovery?: string;
  children: string;
  onClose: () => void;
};

/** Shows a secret, which the service returns only once. */
export function Secret({
  title,
  secret,
  recovery = 'Rotate it to get a new one.',
  children,
  onClose,
}: Props) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(secret ?? '');
    setCopied(true);
  };
  return (
    <Dialog title={title} isPinned onClose={onClose}>
      <div className="dialog-body">
        {/* The service doesn't repeat a secret when it repeats a response that was lost. */}
        <p>{secret ? children : `The connection was lost before the secret arrived. ${recovery}`}</p>
        {secret && (
          <div className="secret">
            <code>{secret}</code>
            {/* Browsers have no clipboard on pages without HTTPS, except on localhost. */}
            {navigator.clipboard && (
              <Button icon={isCopied ? 'check' : 'copy'} onPress={copy}>
                {isCopied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </div>
        )}
      </div>
      <footer>
        <Button primary onPress={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  );
}

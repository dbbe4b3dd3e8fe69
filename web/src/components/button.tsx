import { Button as AriaButton, type ButtonProps as AriaProps } from 'react-aria-components';
import { Link } from 'wouter';
import { Icon, type IconName } from './icon.tsx';

type Look = { primary?: boolean; danger?: boolean; plain?: boolean; small?: boolean; icon?: IconName };
export type ButtonProps = Look & AriaProps & { children?: React.ReactNode };

const classOf = ({ primary, danger, plain, small }: Look) =>
  ['button', primary && 'primary', danger && 'danger', plain && 'plain', small && 'small']
    .filter(Boolean)
    .join(' ');

export function Button({ primary, danger, plain, small, icon, children, ...props }: ButtonProps) {
  return (
    <AriaButton {...props} className={classOf({ primary, danger, plain, small })}>
      {icon && <Icon name={icon} />}
      {children}
    </AriaButton>
  );
}

/** Looks like a button and leads somewhere. */
export const ButtonLink = ({
  href,
  onClick,
  children,
  ...look
}: Look & { href: string; onClick?: () => void; children: React.ReactNode }) => (
  <Link href={href} {...(onClick && { onClick })} className={classOf(look)}>
    {look.icon && <Icon name={look.icon} />}
    {children}
  </Link>
);

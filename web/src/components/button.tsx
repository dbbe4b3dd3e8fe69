import { Button as AriaButton, type ButtonProps as AriaProps } from 'react-aria-components';
import { Link } from 'wouter';
import { Icon, type IconName } from './icon.tsx';

type Variant = { primary?: boolean; danger?: boolean; plain?: boolean; small?: boolean; icon?: IconName };
export type ButtonProps = Variant &
  Omit<AriaProps, 'className'> & { children?: React.ReactNode; className?: string };

const classOf = ({ primary, danger, plain, small }: Variant) =>
  ['button', primary && 'primary', danger && 'danger', plain && 'plain', small && 'small']
    .filter(Boolean)
    .join(' ');

export function Button({
  primary,
  danger,
  plain,
  small,
  icon,
  className = '',
  children,
  ...props
}: ButtonProps) {
  return (
    <AriaButton {...props} className={`${classOf({ primary, danger, plain, small })} ${className}`.trim()}>
      {icon && <Icon name={icon} />}
      {children}
    </AriaButton>
  );
}

/** A link that looks like a button. */
export const ButtonLink = ({
  href,
  onClick,
  children,
  ...variant
}: Variant & { href: string; onClick?: () => void; children: React.ReactNode }) => (
  <Link href={href} {...(onClick && { onClick })} className={classOf(variant)}>
    {variant.icon && <Icon name={variant.icon} />}
    {children}
  </Link>
);

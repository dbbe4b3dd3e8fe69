import { useIsFetching } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Dialog, Menu, MenuItem, MenuTrigger, Modal, ModalOverlay, Popover } from 'react-aria-components';
import { Link, useLocation } from 'wouter';
import { basePath } from '../api/client.ts';
import { useMe } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { DialogLoading } from '../components/dialog.tsx';
import { rememberFocus, restoreFocus } from '../components/focus.ts';
import { Icon } from '../components/icon.tsx';
import { lazy } from '../components/lazy.tsx';
import { leavePage } from '../components/leave-warning.ts';
import { isApple, keyOf } from '../components/use-shortcut.ts';
import { entryOf } from '../walk/source.ts';
import { useDestinations, useIsAvailable } from './navigation.ts';
import { ShortcutList, useShortcuts } from './shortcuts.tsx';
import { signOutOrReport } from './sign-out.ts';
import { setTheme, type Theme, useTheme } from './theme.ts';

const Palette = lazy(() => import('./palette.tsx'), 'Palette', DialogLoading);

/** The layout around every page: navigation, command palette, theme and sign-out. */
export function Frame({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState<'palette' | 'create' | 'shortcuts' | 'menu' | null>(null);
  const [path] = useLocation();
  const close = () => setOpen(null);
  usePaletteKey(() => setOpen('palette'));
  useShortcuts(setOpen);
  // Preloads the palette, so that the first keys typed into it are not lost.
  // If this early load fails, opening the palette tries again and reports the error.
  useEffect(() => void setTimeout(() => Palette.load().catch(() => {}), 500), []);
  const previousPath = useRef(path);
  useEffect(() => {
    if (previousPath.current === path) return;
    previousPath.current = path;
    setOpen(null);
    // A list that was left through a row focuses the row again.
    if (entryOf(history.state).opened) return;
    scrollTo(0, 0);
    // The link that was followed is gone.
    const main = document.getElementById('main');
    if (!main?.contains(document.activeElement)) main?.focus({ preventScroll: true });
  }, [path]);
  return (
    <div className="frame">
      <a className="skip" href={`${basePath}${path}#main`} onClick={skipToMain}>
        Skip to main content
      </a>
      <a className="skip to-list" href={`${basePath}${path}#main`} onClick={skipToList}>
        Skip to list
      </a>
      <aside className="sidebar">
        <Navigation openPalette={() => setOpen('palette')} />
      </aside>
      <header className="topbar">
        <Button plain icon="menu" aria-label="Menu" onPress={() => setOpen('menu')} />
        <Brand />
        <Button plain icon="search" aria-label="Search" onPress={() => setOpen('palette')} />
      </header>
      <Main>{children}</Main>
      {(open === 'palette' || open === 'create') && (
        <Palette
          canOnlyCreate={open === 'create'}
          openShortcuts={() => setOpen('shortcuts')}
          onClose={close}
        />
      )}
      {open === 'shortcuts' && <ShortcutList onClose={close} />}
      {open === 'menu' && (
        <ModalOverlay className="overlay drawer" isOpen isDismissable onOpenChange={close}>
          <Modal className="sidebar">
            <Dialog aria-label="Menu">
              <div className="drawer-close">
                <Button plain icon="close" aria-label="Close" onPress={close} />
              </div>
              <Navigation openPalette={() => setOpen('palette')} />
            </Dialog>
          </Modal>
        </ModalOverlay>
      )}
    </div>
  );
}

function Main({ children }: { children: ReactNode }) {
  const isBusy = useIsFetching() > 0;
  useEffect(() => {
    if (!isBusy) restoreFocus();
  }, [isBusy]);
  return (
    <main id="main" tabIndex={-1} aria-busy={isBusy} onFocus={rememberFocus}>
      {children}
    </main>
  );
}

/** The name of the organization, if it has one. */
function Brand() {
  const { name } = useMe().organization;
  return (
    <Link href="/" className="brand" title={name ?? undefined}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <rect width="16" height="16" rx="4" />
        <path d="M4 12V7M8 12V4M12 12V9" />
      </svg>
      <bdi className="cut-off">{name ?? 'Muster'}</bdi>
    </Link>
  );
}

function Navigation({ openPalette }: { openPalette: () => void }) {
  const isAvailable = useIsAvailable();
  const me = useMe();
  const destinations = useDestinations();
  const [location] = useLocation();
  // A key of a program has the overview at both paths.
  const path = location === '/overview' && me.user_id === null ? '/' : location;
  const isCurrent = (target: string) =>
    target === '/' ? path === '/' : path === target || path.startsWith(`${target}/`);
  return (
    <>
      <Brand />
      <button type="button" className="palette-button" onClick={openPalette}>
        <Icon name="search" />
        Search
        <kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <nav aria-label="Pages">
        {destinations.filter(isAvailable).map(({ path, name, icon }) => (
          <Link key={path} href={path} aria-current={isCurrent(path) ? 'page' : undefined}>
            <Icon name={icon} />
            {name}
          </Link>
        ))}
      </nav>
      <div className="sidebar-end">
        <a href={`${basePath}/docs`}>
          <Icon name="book" />
          API reference
        </a>
        <ThemeChoice />
        {me.type === 'person' ? (
          <AccountMenu name={me.name} />
        ) : (
          <div className="signed-in">
            <Icon name="key" />
            <bdi className="cut-off" title={me.scopes.join(', ')}>
              {me.name}
            </bdi>
            <Button plain small icon="out" aria-label="Sign out" onPress={() => leavePage(signOutOrReport)} />
          </div>
        )}
      </div>
    </>
  );
}

/** The menu of the person who is signed in. */
const AccountMenu = ({ name }: { name: string }) => (
  <div className="signed-in">
    <MenuTrigger>
      <Button plain className="account-button" aria-label={`${name}: account menu`}>
        <Icon name="person" />
        <bdi className="cut-off">{name}</bdi>
        <Icon name="down" />
      </Button>
      <Popover className="popover" placement="top start">
        <Menu className="options" aria-label="Account">
          <MenuItem className="option" href="/account">
            Your account
          </MenuItem>
          <MenuItem className="option" onAction={() => leavePage(signOutOrReport)}>
            Sign out
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  </div>
);

function ThemeChoice() {
  const theme = useTheme();
  const themes: [Theme, 'system' | 'sun' | 'moon', string][] = [
    ['system', 'system', 'System'],
    ['light', 'sun', 'Light'],
    ['dark', 'moon', 'Dark'],
  ];
  return (
    <fieldset className="theme-choice">
      <legend className="visually-hidden">Theme</legend>
      {themes.map(([value, icon, label]) => (
        <button
          key={value}
          type="button"
          aria-label={label}
          title={label}
          aria-pressed={theme === value}
          onClick={() => setTheme(value)}
        >
          <Icon name={icon} />
        </button>
      ))}
    </fieldset>
  );
}

/** With `<base>`, a link to a fragment would open another page. */
function skipToMain(event: React.MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

/** To the first row of a list, which many filters precede. */
function skipToList(event: React.MouseEvent): void {
  event.preventDefault();
  document
    .querySelector<HTMLElement>('#main .table tbody :is(a, .cell-name), #main [role=treegrid] [role=row]')
    ?.focus();
}

/** Works everywhere, also while the user types, but not above a dialog, which it would close with what was entered. */
function usePaletteKey(act: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (keyOf(event).toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      if (!document.querySelector('.overlay, .sign-in')) act();
    };
    // While the event travels down: buttons and inputs keep the keys that they are pressed with to themselves.
    addEventListener('keydown', listen, { capture: true });
    return () => removeEventListener('keydown', listen, { capture: true });
  });
}

import { useState } from 'react';
import { Menu, MenuItem, MenuSection, MenuTrigger, Popover, Separator } from 'react-aria-components';
import { useLocation } from 'wouter';
import { Button } from '../components/button.tsx';
import { DialogLoading } from '../components/dialog.tsx';
import type { Filters } from '../components/filters.tsx';
import { Icon } from '../components/icon.tsx';
import { lazy } from '../components/lazy.tsx';
import { isShared, useViews } from './shared.ts';
import { queryOf, type ViewList } from './store.ts';
import './views.css';

const SaveView = lazy(() => import('./dialogs.tsx'), 'SaveView', DialogLoading);
const ManageViews = lazy(() => import('./dialogs.tsx'), 'ManageViews', DialogLoading);

type Props = {
  list: ViewList;
  filters: Filters;
  /** The chosen columns, if any. */
  columns: string | undefined;
};

/** Saves the filters, the order and the columns of a list under a name, and applies them again. */
export function ViewsMenu({ list, filters, columns }: Props) {
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<'save' | 'manage'>();
  const views = useViews(list);
  const shown = columns ? { ...filters, columns } : filters;
  const query = queryOf(shown);
  // A view without columns is shown with the user's own.
  const current =
    views.find((view) => view.query === query) ?? views.find((view) => view.query === queryOf(filters));
  const act = (action: string) => {
    const view = views.find(({ id }) => id === action);
    if (view) navigate(`/${list}${view.query && `?${view.query}`}`);
    else setDialog(action as 'save' | 'manage');
  };
  return (
    <>
      <MenuTrigger>
        <Button className="views-button">
          Views
          {current && <bdi className="filter-value">{current.name}</bdi>}
          <Icon name="down" />
        </Button>
        <Popover className="popover" placement="bottom end">
          <Menu className="options" aria-label="Views" onAction={(action) => act(String(action))}>
            {views.length > 0 && (
              <MenuSection
                aria-label="Saved views"
                selectionMode="single"
                selectedKeys={current ? [current.id] : []}
              >
                {views.map((view) => (
                  <MenuItem key={view.id} id={view.id} className="option view" textValue={view.name}>
                    <Icon name="check" />
                    <bdi>{view.name}</bdi>
                    {isShared(view) && <span className="note">Shared</span>}
                  </MenuItem>
                ))}
              </MenuSection>
            )}
            {views.length > 0 && <Separator className="separator" />}
            <MenuItem id="save" className="option" isDisabled={query === '' || current?.query === query}>
              Save as view…
            </MenuItem>
            <MenuItem id="manage" className="option" isDisabled={views.length === 0}>
              Manage views…
            </MenuItem>
          </Menu>
        </Popover>
      </MenuTrigger>
      {dialog === 'save' && <SaveView list={list} filters={shown} onClose={() => setDialog(undefined)} />}
      {dialog === 'manage' && <ManageViews list={list} onClose={() => setDialog(undefined)} />}
    </>
  );
}

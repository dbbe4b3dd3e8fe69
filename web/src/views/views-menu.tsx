import { useState } from 'react';
import {
  Button as AriaButton,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  Separator,
} from 'react-aria-components';
import { useLocation } from 'wouter';
import type { Filters } from '../components/filters.tsx';
import { Icon } from '../components/icon.tsx';
import { lazy } from '../components/lazy.tsx';
import { queryOf, useViews, type ViewList } from './store.ts';
import './views.css';

const SaveView = lazy(() => import('./dialogs.tsx').then((module) => module.SaveView));
const ManageViews = lazy(() => import('./dialogs.tsx').then((module) => module.ManageViews));

/** Saves the filters and the order of a list under a name, and applies them again. */
export function ViewsMenu({ list, filters }: { list: ViewList; filters: Filters }) {
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<'save' | 'manage'>();
  const views = useViews(list);
  const query = queryOf(filters);
  const current = views.find((view) => view.query === query);
  const act = (action: string) => {
    const view = views.find(({ id }) => id === action);
    if (view) navigate(`/${list}${view.query && `?${view.query}`}`);
    else setDialog(action as 'save' | 'manage');
  };
  return (
    <>
      <MenuTrigger>
        <AriaButton className={current ? 'filter set' : 'filter'}>
          Views
          {current && <span className="filter-value">{current.name}</span>}
          <Icon name="down" />
        </AriaButton>
        <Popover className="popover" placement="bottom end">
          <Menu className="options" aria-label="Views" onAction={(action) => act(String(action))}>
            {views.length > 0 && (
              <MenuSection
                aria-label="Saved views"
                selectionMode="single"
                selectedKeys={current ? [current.id] : []}
              >
                {views.map(({ id, name }) => (
                  <MenuItem key={id} id={id} className="option view" textValue={name}>
                    <Icon name="check" />
                    <bdi>{name}</bdi>
                  </MenuItem>
                ))}
              </MenuSection>
            )}
            {views.length > 0 && <Separator className="separator" />}
            <MenuItem id="save" className="option" isDisabled={query === '' || current !== undefined}>
              Save as view…
            </MenuItem>
            <MenuItem id="manage" className="option" isDisabled={views.length === 0}>
              Manage views…
            </MenuItem>
          </Menu>
        </Popover>
      </MenuTrigger>
      {dialog === 'save' && <SaveView list={list} filters={filters} onClose={() => setDialog(undefined)} />}
      {dialog === 'manage' && <ManageViews list={list} onClose={() => setDialog(undefined)} />}
    </>
  );
}

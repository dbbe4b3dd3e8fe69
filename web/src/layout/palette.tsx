import { useEffect, useState } from 'react';
import {
  Autocomplete,
  Collection,
  Dialog,
  Header,
  Input,
  type Key,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components';
import { useLocation, useSearch } from 'wouter';
import { useMe } from '../api/session.ts';
import { useReturnFocus } from '../components/focus.ts';
import { Icon } from '../components/icon.tsx';
import { isComposing } from '../components/use-shortcut.ts';
import { useAllViews } from '../views/shared.ts';
import { useDestinations, useIsAvailable } from './navigation.ts';
import { findPageActions } from './palette-actions.ts';
import { createSection, localSections } from './palette-commands.ts';
import { filterCommands } from './palette-filters.ts';
import { type Result, rankSections } from './palette-search.ts';
import { usePaletteSearch } from './use-palette-search.ts';

type Props = {
  /** Whether to offer only the commands that create something. */
  canOnlyCreate: boolean;
  openShortcuts: () => void;
  onClose: () => void;
};

/** The command palette: runs commands and finds pages, views, people, groups, projects, risks, issues and tasks. */
export function Palette({ canOnlyCreate, openShortcuts, onClose }: Props) {
  const [text, setText] = useState('');
  const [path, navigate] = useLocation();
  const search = useSearch();
  const isAvailable = useIsAvailable();
  const isPerson = useMe().type === 'person';
  const destinations = useDestinations();
  const views = useAllViews();
  // Before the palette takes the focus from the row or the field that has it.
  const [pageActions] = useState(() => findPageActions(path));
  const typed = text.trim();
  const { sections: found, isSearching, isWaitingForItem, failure } = usePaletteSearch(typed, !canOnlyCreate);
  const findLocal = () => {
    if (canOnlyCreate) return [createSection(typed, isAvailable)];
    if (isWaitingForItem) return [];
    return localSections(typed, {
      isAvailable,
      isPerson,
      destinations,
      views,
      pageActions,
      filters: filterCommands(path, search, isPerson),
      openShortcuts,
    });
  };
  const sections = rankSections(findLocal(), found, typed);
  // Enter was pressed before there was a result. The first one opens when it arrives, unless the text changes.
  const [isEntered, setIsEntered] = useState(false);
  const first = sections[0]?.results[0];
  useEffect(() => {
    if (isEntered && first && !isSearching) run(idOf(first));
  });
  const run = (id: Key) => {
    const result = sections.flatMap(({ results }) => results).find((one) => idOf(one) === id);
    onClose();
    // The palette has closed by then, so that it is not printed and takes no focus from a dialog.
    if (result?.act) setTimeout(result.act);
    else if (result) navigate(result.path);
  };
  useEscape(onClose);
  useReturnFocus();
  const title = canOnlyCreate ? 'Create' : 'Go to';
  return (
    <ModalOverlay className="overlay" isOpen isDismissable onOpenChange={(open) => open || onClose()}>
      <Modal className="modal palette">
        <Dialog aria-label={title} className="dialog">
          <Autocomplete
            inputValue={text}
            onInputChange={(value) => {
              setText(value);
              setIsEntered(false);
            }}
          >
            <SearchField
              className="palette-input"
              aria-label={title}
              autoFocus
              onSubmit={() => setIsEntered(first === undefined && isSearching)}
            >
              <Icon name="search" />
              <Input placeholder={canOnlyCreate ? 'Create…' : 'Search or run a command'} dir="auto" />
            </SearchField>
            <Menu
              className="palette-results"
              aria-label="Results"
              items={sections}
              onAction={run}
              renderEmptyState={() =>
                failure ? null : <p className="hint">{isSearching ? 'Searching…' : 'No results'}</p>
              }
            >
              {(section) => (
                <MenuSection>
                  <Header>{section.name}</Header>
                  <Collection items={section.results}>
                    {(result) => (
                      <MenuItem id={idOf(result)} className="option" textValue={result.name}>
                        <Icon name={result.icon ?? section.icon} />
                        <bdi>{result.name}</bdi>
                        <Note>{result.key ?? result.note}</Note>
                      </MenuItem>
                    )}
                  </Collection>
                </MenuSection>
              )}
            </Menu>
          </Autocomplete>
          {failure && (
            <p className="hint palette-error" role="alert">
              {failure}
            </p>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Otherwise the first Escape would only empty the input. */
function useEscape(act: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || isComposing(event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      act();
    };
    addEventListener('keydown', listen, { capture: true });
    return () => removeEventListener('keydown', listen, { capture: true });
  });
}

const idOf = ({ id, path }: Result) => id ?? path;

const Note = ({ children }: { children: string | null | undefined }) =>
  children ? <span className="note">{children}</span> : null;

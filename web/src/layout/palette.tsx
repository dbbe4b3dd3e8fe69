import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  Autocomplete,
  Collection,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components';
import { useLocation } from 'wouter';
import { useHasScope } from '../api/session.ts';
import { errorLine } from '../components/error-text.ts';
import { Icon } from '../components/icon.tsx';
import { useDebounced } from '../components/use-debounced.ts';
import { fitting, localSections, rankSections, search } from './palette-search.ts';

/** The command palette: runs commands and finds pages, people, groups, projects, risks, issues and tasks. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const hasScope = useHasScope();
  const q = useDebounced(text.trim(), 120);
  const { data, isFetching, isPlaceholderData, error } = useQuery({
    queryKey: ['palette', q],
    queryFn: () => search(q, hasScope),
    enabled: q !== '',
    placeholderData: keepPreviousData,
  });
  const isBehind = q !== text.trim() || isPlaceholderData;
  const sent = data?.sections ?? [];
  const found = text.trim() === '' ? [] : isBehind ? fitting(sent, text.trim()) : sent;
  const failure = text.trim() === '' || isBehind ? undefined : (error ?? data?.error);
  const sections = rankSections(localSections(text, hasScope), found, text.trim());
  return (
    <ModalOverlay className="overlay" isOpen isDismissable onOpenChange={(open) => open || onClose()}>
      <Modal className="modal palette">
        <Dialog aria-label="Go to" className="dialog">
          <Autocomplete inputValue={text} onInputChange={setText}>
            <SearchField className="palette-input" aria-label="Go to" autoFocus>
              <Icon name="search" />
              <Input placeholder="Search or run a command" dir="auto" />
            </SearchField>
            <Menu
              className="palette-results"
              aria-label="Results"
              items={sections}
              onAction={(path) => {
                onClose();
                navigate(String(path));
              }}
              renderEmptyState={() =>
                failure ? null : (
                  <p className="hint">{isFetching || isBehind ? 'Searching…' : 'No results'}</p>
                )
              }
            >
              {(section) => (
                <MenuSection>
                  <Header>{section.name}</Header>
                  <Collection items={section.results}>
                    {(result) => (
                      <MenuItem id={result.path} className="option" textValue={result.name}>
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
              {error ? "Couldn't search." : "Couldn't search everything."} {errorLine(failure)}
            </p>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

const Note = ({ children }: { children: string | null | undefined }) =>
  children ? <span className="note">{children}</span> : null;

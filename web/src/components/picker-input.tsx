import { type KeyboardEvent, type ReactNode, useContext, useEffect } from 'react';
import { ComboBoxStateContext, FieldError } from 'react-aria-components';
import { isComposing } from './use-shortcut.ts';

export const notChosen = 'Choose one from the list';

/**
 * Marks the pickers inside an element whose text was typed but not chosen, and focuses the first. Returns whether there
 * is one: its text would be lost, and the field saved as blank or unchanged.
 */
export function rejectNotChosen(element: HTMLElement | null): boolean {
  const inputs = notChosenInputs(element);
  // React Aria shows the message when the browser reports the input.
  for (const input of inputs) input.checkValidity();
  inputs[0]?.focus();
  return inputs.length > 0;
}

export const notChosenInputs = (element: HTMLElement | null): HTMLInputElement[] =>
  [...(element?.querySelectorAll<HTMLInputElement>('.picker input') ?? [])].filter(
    ({ validity }) => validity.customError,
  );

/**
 * Highlights the first option of a search, for Enter. Its place is after the list, which clears the highlight when its
 * first options arrive.
 */
export function FirstOption({ id }: { id: string | undefined }) {
  const state = useContext(ComboBoxStateContext);
  const isHighlighted = state?.selectionManager.focusedKey != null;
  // The combo box renders new options one step later.
  const isListed = state?.isOpen === true && state.collection.getFirstKey() === id;
  useEffect(() => {
    if (id !== undefined && isListed && !isHighlighted) state?.selectionManager.setFocusedKey(id);
  }, [id, isListed, isHighlighted, state]);
  return null;
}

type Props = {
  /** The text is searched for: it is neither blank nor the name of the selected item. */
  isSearch: boolean;
  hasResponse: boolean;
  /** The id of the option that the search has highlighted. */
  first: string | undefined;
  /** The input and its button. */
  children: ReactNode;
};

/** The box of a picker. Enter takes an option of the search, never one of an earlier text, and submits nothing. */
export function PickerInput({ isSearch, hasResponse, first, children }: Props) {
  const state = useContext(ComboBoxStateContext);
  const isMarked = state?.displayValidation.validationDetails.customError === true;
  useEffect(() => {
    if (isMarked && !isSearch) state?.commitValidation();
  }, [isMarked, isSearch, state]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (!state || !isSearch) return;
    // This Enter only ends the input of a character.
    if (isComposing(event.nativeEvent)) return event.stopPropagation();
    const highlighted = state.selectionManager.focusedKey;
    const ignore = () => {
      event.preventDefault();
      event.stopPropagation();
    };
    if (event.key === 'Enter' && (!hasResponse || !state.isOpen || highlighted === null)) {
      ignore();
      state.open(null, 'manual');
      if (hasResponse) state.commitValidation();
    }
    // Leaving the input takes no option that was only highlighted by the search.
    if (event.key === 'Tab' && (!hasResponse || highlighted === first)) state.close();
    // The first Escape closes only the list, not the dialog around it.
    if (event.key === 'Escape' && state.isOpen) {
      ignore();
      state.close();
    }
  };
  return (
    <>
      <div className="picker-box" onKeyDownCapture={onKeyDown}>
        {children}
      </div>
      <FieldError className="field-error">
        {({ validationDetails }) => (validationDetails.customError ? notChosen : null)}
      </FieldError>
    </>
  );
}

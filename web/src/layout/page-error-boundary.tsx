import { Component, type ReactNode } from 'react';
import { ErrorNotice } from '../components/error-notice.tsx';

/** An error in one page, or a chunk that fails to load, leaves the navigation usable. */
export class PageErrorBoundary extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return <ErrorNotice error={this.state.error} retry={() => location.reload()} />;
  }
}

import { Component, type ReactNode } from 'react';
import { ProblemNotice } from '../components/problem.tsx';

/** A defect of one page, or a part of it that could not be loaded, leaves the others usable. */
export class PageErrors extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return <ProblemNotice error={this.state.error} retry={() => location.reload()} />;
  }
}

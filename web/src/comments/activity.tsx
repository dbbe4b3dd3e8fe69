import { lazy } from '../components/lazy.tsx';
import { Loading } from '../components/loading.tsx';

/** The comments and the history of an item. Its code loads after the page's, which does not wait for it. */
export const Activity = lazy(() => import('./timeline.tsx'), 'Timeline', <Loading />);

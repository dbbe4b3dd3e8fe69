import { signOut } from '../api/session.ts';
import { toast } from '../components/toast.tsx';

export const signOutOrReport = () => signOut().catch((error: Error) => toast(error.message));

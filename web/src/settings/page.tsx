import { useLocation, useParams } from 'wouter';
import { Tabs } from '../components/tabs.tsx';
import { Title } from '../layout/title.tsx';
import { OrganizationSettings } from './organization.tsx';

/** What the organization decides for all projects. */
export function SettingsPage() {
  const { name } = useParams<{ name?: string }>();
  const [, navigate] = useLocation();
  return (
    <>
      <Title title="Settings" />
      <Tabs
        label="Settings"
        tabs={{ organization: { title: 'Organization', content: <OrganizationSettings /> } }}
        selected={name === 'organization' ? name : 'organization'}
        onSelect={(tab) => navigate(`/settings/${tab}`)}
      />
    </>
  );
}

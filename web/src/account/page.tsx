import { Link } from 'wouter';
import { useHasScope, useMe } from '../api/session.ts';
import { Card, Facts } from '../components/card.tsx';
import { Empty } from '../components/empty.tsx';
import { Title } from '../layout/title.tsx';
import { useSignInWays } from '../sign-in/ways.ts';
import { AccountActivity } from './activity.tsx';
import { PersonalKeys } from './keys.tsx';
import { Passkeys } from './passkeys.tsx';
import { PasswordCard } from './password.tsx';
import { RecentSignIn } from './recent-sign-in.tsx';
import { Sessions } from './sessions.tsx';
import './account.css';

/** How the person who is signed in signs in, where, and with which keys. */
export function AccountPage() {
  const me = useMe();
  const hasScope = useHasScope();
  const ways = useSignInWays();
  if (me.type !== 'person')
    return (
      <>
        <Title title="Your account" />
        <Empty title="You are signed in with an API key">
          Only people have an account. Sign in as a person to change a password, passkeys or personal keys.
        </Empty>
      </>
    );
  return (
    <>
      <Title title="Your account" />
      <div className="columns wide-side">
        <div className="stack">
          <Sessions />
          <AccountActivity />
          <PersonalKeys />
        </div>
        <div className="stack">
          <Card id="about" title="You">
            <Facts
              facts={[
                [
                  'Name',
                  hasScope('personnel.read') ? (
                    <Link key="name" href={`/personnel/${me.user_id}`}>
                      <bdi>{me.name}</bdi>
                    </Link>
                  ) : (
                    me.name
                  ),
                ],
                ['Email', me.email],
              ]}
            />
          </Card>
          {ways.data?.password && <PasswordCard />}
          {ways.data && <Passkeys canAdd={ways.data.passkey} />}
        </div>
      </div>
      <RecentSignIn />
    </>
  );
}

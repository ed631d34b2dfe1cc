import { useAccess } from "../shared/api.ts";
import { Page } from "../shared/page.tsx";
import { Notice } from "../shared/states.tsx";
import { Sessions } from "./sessions.tsx";
import { Tokens } from "./tokens.tsx";

export default function AccessPage() {
  const allowed = useAccess("operate");
  return (
    <Page title="Access">
      {allowed ? (
        <>
          <Sessions />
          <Tokens />
        </>
      ) : (
        <Notice icon="key" title="For operators">
          <p>Sessions and tokens are shown to callers with &quot;operate&quot; access.</p>
        </Notice>
      )}
    </Page>
  );
}

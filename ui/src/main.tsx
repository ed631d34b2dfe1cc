import "./zod-jitless.ts";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { base, trimSlash, visit } from "./shared/navigation.ts";
import { queryClient } from "./shared/query-client.ts";
import { startTheme } from "./shared/theme.ts";
import { App } from "./shell/app.tsx";
import { followLoginLink } from "./shell/login-link.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/controls.css";
import "./styles/feedback.css";
import "./styles/text.css";
import "./styles/job.css";
import "./styles/graph.css";
import "./styles/stages.css";
import "./styles/gantt.css";
import "./styles/node.css";
import "./styles/lists.css";
import "./styles/workflows.css";
import "./styles/maps.css";
import "./styles/files.css";

startTheme();
const root = document.getElementById("root");
void followLoginLink().then((refusal) => {
  if (root !== null) {
    createRoot(root).render(
      <StrictMode>
        <QueryClientProvider client={queryClient}>
          <Router base={base} hrefs={trimSlash} aroundNav={visit}>
            <App refusal={refusal} />
          </Router>
        </QueryClientProvider>
      </StrictMode>,
    );
  }
});

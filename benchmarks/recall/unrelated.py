"""Prompts about nothing in particular: none of them should be given a lesson."""

EVERYDAY_PROMPTS = """
what does this function do
thanks, that looks good, please continue
write a haiku about autumn leaves
can you make the button blue and a bit larger
translate the readme into Spanish
add a dark theme to the settings page
what is the capital of Portugal
please commit this and open a pull request
yes, go ahead
explain how merge sort works
why is the build red
bump the version to 2.1.0 and update the changelog
rename the variable total to amount in the invoice template
summarise what you changed so far
the tests fail, fix them
how do I center a div
add type hints to the helpers
set up a cron job that mails me the sales figures on Mondays
is there a better name for this class
draw the architecture as a mermaid diagram
""".strip().splitlines()

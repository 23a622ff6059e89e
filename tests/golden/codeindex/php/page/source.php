<html>
<?php function title($of) { ?>
  <h1><?= $of ?></h1>
<?php } ?>
<?php
namespace Blocks {
    class Page { public function show() {} }
}
?>
</html>
